-- AlterTable
ALTER TABLE "pages" ADD COLUMN     "canonical" TEXT,
ADD COLUMN     "description" TEXT,
ADD COLUMN     "detected_language" TEXT,
ADD COLUMN     "links_skipped" JSONB;

-- CreateTable
CREATE TABLE "crawl_places" (
    "crawl_id" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "name" TEXT NOT NULL,
    "pages" INTEGER NOT NULL,

    CONSTRAINT "crawl_places_pkey" PRIMARY KEY ("crawl_id","hash")
);

-- AddForeignKey
ALTER TABLE "crawl_places" ADD CONSTRAINT "crawl_places_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;
