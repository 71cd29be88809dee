-- DropIndex
DROP INDEX "pages_ready";

-- AlterTable
ALTER TABLE "crawls" ADD COLUMN     "warm" BOOLEAN NOT NULL DEFAULT true;

-- AlterTable
ALTER TABLE "pages" ADD COLUMN     "rank" INTEGER NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "pages_ready" ON "pages"("crawl_id", "domain", "priority", "rank", "id") WHERE (status = 'Pending' AND next_at IS NULL AND kind = 'page');
