-- AlterTable
ALTER TABLE "pages" ADD COLUMN     "duplicate_of" BIGINT;

-- CreateIndex
CREATE INDEX "pages_confirmable" ON "pages"("url_hash", "fetched_at") WHERE (etag IS NOT NULL OR last_modified IS NOT NULL);

-- CreateIndex
CREATE INDEX "pages_redirects" ON "pages" USING HASH ("redirect_to") WHERE (redirect_to IS NOT NULL);

-- Pages of before: the first of each content is the original
UPDATE "pages" page SET "duplicate_of" = first.id
FROM (SELECT "crawl_id", "content_hash", min("id") AS id FROM "pages" WHERE "content_hash" IS NOT NULL GROUP BY 1, 2) first
WHERE page."crawl_id" = first."crawl_id" AND page."content_hash" = first."content_hash" AND page."id" <> first.id;

-- CreateIndex
CREATE UNIQUE INDEX "pages_originals" ON "pages"("crawl_id", "content_hash") WHERE (content_hash IS NOT NULL AND duplicate_of IS NULL);
