-- CreateEnum
CREATE TYPE "url_kind" AS ENUM ('page', 'sitemap');

-- DropIndex
DROP INDEX "pages_counts";

-- DropIndex
DROP INDEX "pages_ready";

-- AlterTable
ALTER TABLE "pages" ADD COLUMN     "kind" "url_kind" NOT NULL DEFAULT 'page',
ADD COLUMN     "lastmod" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "pages_counts" ON "pages"("crawl_id", "status", "kind");

-- CreateIndex
CREATE INDEX "pages_ready" ON "pages"("crawl_id", "domain", "priority", "id") WHERE (status = 'Pending' AND next_at IS NULL AND kind = 'page');

-- CreateIndex
CREATE INDEX "pages_sitemaps" ON "pages"("crawl_id", "domain", "status", "id") WHERE (kind = 'sitemap');
