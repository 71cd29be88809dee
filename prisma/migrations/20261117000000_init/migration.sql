-- Ids that workflows know. A sequence alone would begin again where a restored backup ends. Time is part of them, so none is given out
-- twice: in one second there is room for a million.
CREATE SEQUENCE pages_id_seq;
CREATE SEQUENCE robots_rules_id_seq;

CREATE OR REPLACE FUNCTION unrepeated_id(counter regclass) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT (extract(epoch FROM clock_timestamp())::bigint << 20) | (nextval(counter) & 1048575)
$$;

-- CreateEnum
CREATE TYPE "crawl_status" AS ENUM ('Running', 'Paused', 'Cancelling', 'Completed', 'Cancelled', 'Failed');

-- CreateEnum
CREATE TYPE "page_status" AS ENUM ('Pending', 'Queued', 'Waiting', 'Fetched', 'Redirected', 'Rejected', 'Blocked', 'Failed', 'Cancelled');

-- CreateEnum
CREATE TYPE "url_kind" AS ENUM ('page', 'sitemap');

-- CreateEnum
CREATE TYPE "outcome" AS ENUM ('Success', 'Rejected', 'Blocked4xx', 'Blocked5xx', 'BlockedRobots', 'Failed', 'Timeout');

-- CreateEnum
CREATE TYPE "request_purpose" AS ENUM ('page', 'robots');

-- CreateEnum
CREATE TYPE "politeness_key" AS ENUM ('host', 'site');

-- CreateEnum
CREATE TYPE "order_kind" AS ENUM ('pause', 'resume', 'delay', 'reset', 'cancel', 'retry', 'exclude', 'stop');

-- CreateEnum
CREATE TYPE "order_channel" AS ENUM ('dashboard', 'cli', 'api', 'temporal');

-- CreateTable
CREATE TABLE "installation" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "politeness_key" "politeness_key" NOT NULL,
    "stopped_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "installation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "crawls" (
    "id" TEXT NOT NULL,
    "status" "crawl_status" NOT NULL DEFAULT 'Running',
    "reason" TEXT,
    "seeds" TEXT[],
    "settings" JSONB NOT NULL,
    "scope_hosts" TEXT[],
    "excluded" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "pages_reserved" INTEGER NOT NULL DEFAULT 0,
    "max_pages" INTEGER,
    "warmed_up" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "crawls_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "crawl_domains" (
    "crawl_id" TEXT NOT NULL,
    "domain" TEXT NOT NULL,

    CONSTRAINT "crawl_domains_pkey" PRIMARY KEY ("crawl_id","domain")
);

-- CreateTable
CREATE TABLE "crawl_url_counts" (
    "crawl_id" TEXT NOT NULL,
    "group_hash" BYTEA NOT NULL,
    "group_name" TEXT NOT NULL,
    "url_count" INTEGER NOT NULL,

    CONSTRAINT "crawl_url_counts_pkey" PRIMARY KEY ("crawl_id","group_hash")
);

-- CreateTable
CREATE TABLE "crawl_hosts" (
    "crawl_id" TEXT NOT NULL,
    "host" TEXT NOT NULL,

    CONSTRAINT "crawl_hosts_pkey" PRIMARY KEY ("crawl_id","host")
);

-- CreateTable
CREATE TABLE "crawl_host_counts" (
    "crawl_id" TEXT NOT NULL,
    "group_name" TEXT NOT NULL,
    "host_count" INTEGER NOT NULL,

    CONSTRAINT "crawl_host_counts_pkey" PRIMARY KEY ("crawl_id","group_name")
);

-- CreateTable
CREATE TABLE "domains" (
    "name" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL DEFAULT 0,
    "revision" INTEGER NOT NULL DEFAULT 0,
    "gate" JSONB NOT NULL DEFAULT '{"lastStart": null, "delayUntil": 0, "open": [], "spent": []}',
    "valid_from" INTEGER NOT NULL DEFAULT 0,
    "min_gap_ms" INTEGER NOT NULL DEFAULT 0,
    "delay_min_ms" INTEGER,
    "delay_max_ms" INTEGER,
    "paused" BOOLEAN NOT NULL DEFAULT false,
    "backoff_ms" INTEGER NOT NULL DEFAULT 0,
    "blocked_until" TIMESTAMPTZ(3),
    "crawl_delays" JSONB NOT NULL DEFAULT '{}',
    "outages" JSONB NOT NULL DEFAULT '{}',
    "stats" JSONB NOT NULL DEFAULT '{}',
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "domains_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "address_blocks" (
    "block" TEXT NOT NULL,
    "free_at" TIMESTAMPTZ(6) NOT NULL,
    "open_requests" JSONB NOT NULL,

    CONSTRAINT "address_blocks_pkey" PRIMARY KEY ("block")
);

-- CreateTable
CREATE TABLE "robots" (
    "origin" TEXT NOT NULL,
    "domain" TEXT NOT NULL,
    "product_token" TEXT,
    "body" TEXT,
    "status_code" INTEGER,
    "error" TEXT,
    "rules_id" BIGINT,
    "fetched_at" TIMESTAMPTZ(3),
    "fresh_until" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "retry_at" TIMESTAMPTZ(3),
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "robots_pkey" PRIMARY KEY ("origin")
);

-- CreateTable
CREATE TABLE "robots_rules" (
    "id" BIGINT NOT NULL DEFAULT unrepeated_id('robots_rules_id_seq'::regclass),
    "origin" TEXT NOT NULL,
    "body" TEXT,
    "max_crawl_delay_ms" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "robots_rules_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pages" (
    "id" BIGINT NOT NULL DEFAULT unrepeated_id('pages_id_seq'::regclass),
    "crawl_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "url_hash" BYTEA NOT NULL,
    "domain" TEXT NOT NULL,
    "kind" "url_kind" NOT NULL DEFAULT 'page',
    "status" "page_status" NOT NULL DEFAULT 'Pending',
    "reason" TEXT,
    "depth" INTEGER NOT NULL DEFAULT 0,
    "priority" INTEGER NOT NULL DEFAULT 5,
    "rank" INTEGER NOT NULL DEFAULT 0,
    "type" TEXT,
    "keyword" TEXT,
    "is_seed" BOOLEAN NOT NULL DEFAULT false,
    "found_on_id" BIGINT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "attempts_before" INTEGER NOT NULL DEFAULT 0,
    "retry_id" TEXT,
    "next_attempt_at" TIMESTAMPTZ(3),
    "check_at" TIMESTAMPTZ(3),
    "admission_id" TEXT,
    "redirect_count" INTEGER NOT NULL DEFAULT 0,
    "redirect_to" TEXT,
    "status_code" INTEGER,
    "error_kind" TEXT,
    "title" TEXT,
    "description" TEXT,
    "canonical_url" TEXT,
    "language" TEXT,
    "detected_language" TEXT,
    "content_type" TEXT,
    "content_hash" TEXT,
    "content_bytes" INTEGER,
    "duplicate_of_id" BIGINT,
    "parsed_hash" TEXT,
    "links_found" INTEGER NOT NULL DEFAULT 0,
    "noindex" BOOLEAN NOT NULL DEFAULT false,
    "nofollow" BOOLEAN NOT NULL DEFAULT false,
    "links_skipped" JSONB,
    "etag" TEXT,
    "last_modified" TEXT,
    "lastmod" TIMESTAMPTZ(3),
    "fetched_at" TIMESTAMPTZ(3),
    "failed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "page_crawls" (
    "id" BIGSERIAL NOT NULL,
    "page_id" BIGINT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "outcome" "outcome" NOT NULL,
    "status_code" INTEGER,
    "error_kind" TEXT,
    "error" TEXT,
    "priority" INTEGER NOT NULL DEFAULT 5,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3) NOT NULL,
    "slot_wait_ms" INTEGER NOT NULL,
    "latency_ms" INTEGER,
    "bytes" INTEGER,
    "next_attempt_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "page_crawls_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "requests" (
    "lease_id" TEXT NOT NULL,
    "domain" TEXT NOT NULL,
    "crawl_id" TEXT NOT NULL,
    "page_id" BIGINT NOT NULL,
    "purpose" "request_purpose" NOT NULL,
    "url" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "started_error_ms" INTEGER NOT NULL,
    "min_gap_ms" INTEGER NOT NULL,
    "address" TEXT NOT NULL,
    "address_block" TEXT NOT NULL,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,
    "address_gap_ms" INTEGER,
    "address_max_open" INTEGER,
    "rules_id" BIGINT,
    "product_token" TEXT,
    "status_code" INTEGER,
    "duration_ms" INTEGER NOT NULL,

    CONSTRAINT "requests_pkey" PRIMARY KEY ("lease_id","started_at")
);

-- CreateTable
CREATE TABLE "links" (
    "page_id" BIGINT NOT NULL,
    "url_hash" BYTEA NOT NULL,
    "url" TEXT NOT NULL,
    "anchor" TEXT,
    "rel" TEXT,

    CONSTRAINT "links_pkey" PRIMARY KEY ("page_id","url_hash")
);

-- CreateTable
CREATE TABLE "orders" (
    "id" TEXT NOT NULL,
    "given_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "kind" "order_kind" NOT NULL,
    "crawl_id" TEXT,
    "domain" TEXT,
    "channel" "order_channel" NOT NULL,
    "given_by" TEXT,
    "reason" TEXT,
    "effect" TEXT NOT NULL,

    CONSTRAINT "orders_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "domains_restricted" ON "domains"("name") WHERE (paused OR backoff_ms > 0 OR blocked_until IS NOT NULL OR outages <> '{}'::jsonb);

-- CreateIndex
CREATE INDEX "pages_counts" ON "pages"("crawl_id", "status", "kind");

-- CreateIndex
CREATE INDEX "pages_ready" ON "pages"("crawl_id", "domain", "priority", "rank", "id") WHERE (status = 'Pending' AND next_attempt_at IS NULL AND kind = 'page');

-- CreateIndex
CREATE INDEX "pages_sitemaps" ON "pages"("crawl_id", "domain", "status", "id") WHERE (kind = 'sitemap');

-- CreateIndex
CREATE INDEX "pages_deferred" ON "pages"("crawl_id", "next_attempt_at") WHERE (status = 'Pending' AND next_attempt_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "pages_queued" ON "pages"("crawl_id", "domain") WHERE (status = 'Queued');

-- CreateIndex
CREATE INDEX "pages_waiting" ON "pages"("crawl_id", "domain") WHERE (status = 'Waiting');

-- CreateIndex
CREATE INDEX "pages_check" ON "pages"("crawl_id", "check_at") WHERE (status = 'Queued' OR status = 'Waiting');

-- CreateIndex
CREATE INDEX "pages_confirmable" ON "pages"("url_hash", "fetched_at") WHERE (etag IS NOT NULL OR last_modified IS NOT NULL);

-- CreateIndex
CREATE INDEX "pages_redirects" ON "pages" USING HASH ("redirect_to") WHERE (redirect_to IS NOT NULL);

-- CreateIndex
CREATE INDEX "pages_admitted" ON "pages"("admission_id") WHERE (status = 'Queued');

-- CreateIndex
CREATE UNIQUE INDEX "pages_crawl_id_url_hash_key" ON "pages"("crawl_id", "url_hash");

-- CreateIndex
CREATE UNIQUE INDEX "pages_originals" ON "pages"("crawl_id", "content_hash") WHERE (content_hash IS NOT NULL AND duplicate_of_id IS NULL);

-- CreateIndex
CREATE INDEX "page_crawls_page_id_created_at_idx" ON "page_crawls"("page_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "page_crawls_page_id_attempt_key" ON "page_crawls"("page_id", "attempt");

-- CreateIndex
CREATE INDEX "requests_domain_started_at_idx" ON "requests"("domain", "started_at");

-- CreateIndex
CREATE INDEX "requests_address_block_sent_at_idx" ON "requests"("address_block", "sent_at");

-- CreateIndex
CREATE INDEX "requests_crawl_id_idx" ON "requests"("crawl_id");

-- CreateIndex
CREATE INDEX "links_in" ON "links" USING HASH ("url_hash");

-- CreateIndex
CREATE INDEX "orders_given_at_id_idx" ON "orders"("given_at", "id");

-- CreateIndex
CREATE INDEX "orders_crawl_id_given_at_idx" ON "orders"("crawl_id", "given_at");

-- CreateIndex
CREATE INDEX "orders_domain_given_at_idx" ON "orders"("domain", "given_at");

-- AddForeignKey
ALTER TABLE "crawl_domains" ADD CONSTRAINT "crawl_domains_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "crawl_url_counts" ADD CONSTRAINT "crawl_url_counts_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "crawl_hosts" ADD CONSTRAINT "crawl_hosts_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "crawl_host_counts" ADD CONSTRAINT "crawl_host_counts_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pages" ADD CONSTRAINT "pages_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "page_crawls" ADD CONSTRAINT "page_crawls_page_id_fkey" FOREIGN KEY ("page_id") REFERENCES "pages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "links" ADD CONSTRAINT "links_page_id_fkey" FOREIGN KEY ("page_id") REFERENCES "pages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- CreateTable
CREATE TABLE "crawl_changes" (
    "id" BIGSERIAL NOT NULL,
    "crawl_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "domain" TEXT,
    "kind" "url_kind",
    "status" "page_status",
    "error_kind" TEXT,
    "status_code" INTEGER,
    "pages" INTEGER NOT NULL DEFAULT 0,
    "links_found" INTEGER NOT NULL DEFAULT 0,
    "links_skipped" JSONB,
    "outcome" "outcome",
    "attempts" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "crawl_changes_pkey" PRIMARY KEY ("crawl_id","id")
);

-- CreateTable
CREATE TABLE "crawl_page_counts" (
    "crawl_id" TEXT NOT NULL,
    "kind" "url_kind" NOT NULL,
    "status" "page_status" NOT NULL,
    "pages" INTEGER NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "crawl_page_counts_pkey" PRIMARY KEY ("crawl_id","kind","status")
);

-- CreateTable
CREATE TABLE "crawl_domain_counts" (
    "crawl_id" TEXT NOT NULL,
    "domain" TEXT NOT NULL,
    "found" INTEGER NOT NULL,
    "open" INTEGER NOT NULL,
    "fetched" INTEGER NOT NULL,
    "failed" INTEGER NOT NULL,

    CONSTRAINT "crawl_domain_counts_pkey" PRIMARY KEY ("crawl_id","domain")
);

-- CreateTable
CREATE TABLE "crawl_causes" (
    "crawl_id" TEXT NOT NULL,
    "domain" TEXT NOT NULL,
    "status" "page_status" NOT NULL,
    "error_kind" TEXT NOT NULL,
    "status_code" INTEGER NOT NULL,
    "pages" INTEGER NOT NULL,
    "first_at" TIMESTAMPTZ(3) NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "crawl_causes_pkey" PRIMARY KEY ("crawl_id","domain","status","error_kind","status_code")
);

-- CreateTable
CREATE TABLE "crawl_attempt_counts" (
    "crawl_id" TEXT NOT NULL,
    "outcome" "outcome" NOT NULL,
    "attempts" INTEGER NOT NULL,

    CONSTRAINT "crawl_attempt_counts_pkey" PRIMARY KEY ("crawl_id","outcome")
);

-- CreateTable
CREATE TABLE "crawl_link_counts" (
    "crawl_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "links" BIGINT NOT NULL,

    CONSTRAINT "crawl_link_counts_pkey" PRIMARY KEY ("crawl_id","reason")
);

-- CreateTable
CREATE TABLE "workers" (
    "identity" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,
    "clock_at" TIMESTAMPTZ(3) NOT NULL,
    "open_fetches" INTEGER NOT NULL,
    "waiting_fetches" INTEGER NOT NULL,
    "event_loop_lag_ms" INTEGER NOT NULL,
    "unavailable" TEXT[],

    CONSTRAINT "workers_pkey" PRIMARY KEY ("identity")
);

-- CreateTable
CREATE TABLE "crawl_samples" (
    "crawl_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "found" INTEGER NOT NULL,
    "done" INTEGER NOT NULL,

    CONSTRAINT "crawl_samples_pkey" PRIMARY KEY ("crawl_id","at")
);

-- CreateIndex
CREATE INDEX "crawl_domain_counts_crawl_id_open_idx" ON "crawl_domain_counts"("crawl_id", "open");

-- CreateIndex
CREATE INDEX "crawl_domain_counts_crawl_id_found_idx" ON "crawl_domain_counts"("crawl_id", "found");

-- CreateIndex
CREATE INDEX "crawl_causes_crawl_id_pages_idx" ON "crawl_causes"("crawl_id", "pages");

-- CreateIndex
CREATE INDEX "pages_retried" ON "pages"("retry_id", "status") WHERE (retry_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "pages_failed" ON "pages"("crawl_id", "error_kind", "status_code", "domain", "id") WHERE (status = 'Failed' OR status = 'Rejected' OR status = 'Blocked');

-- CreateIndex
CREATE INDEX "robots_domain_origin_idx" ON "robots"("domain", "origin");

-- CreateIndex
CREATE INDEX "robots_rules_origin_id_idx" ON "robots_rules"("origin", "id");

-- AddForeignKey
ALTER TABLE "crawl_changes" ADD CONSTRAINT "crawl_changes_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "crawl_page_counts" ADD CONSTRAINT "crawl_page_counts_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "crawl_domain_counts" ADD CONSTRAINT "crawl_domain_counts_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "crawl_causes" ADD CONSTRAINT "crawl_causes_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "crawl_attempt_counts" ADD CONSTRAINT "crawl_attempt_counts_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "crawl_link_counts" ADD CONSTRAINT "crawl_link_counts_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "crawl_samples" ADD CONSTRAINT "crawl_samples_crawl_id_fkey" FOREIGN KEY ("crawl_id") REFERENCES "crawls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER SEQUENCE pages_id_seq OWNED BY pages.id;
ALTER SEQUENCE robots_rules_id_seq OWNED BY robots_rules.id;

-- Counts of pages, attempts and links: src/storage/counts.ts explains them. The schema of Prisma knows no triggers.
CREATE OR REPLACE FUNCTION record_added_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO crawl_changes (crawl_id, domain, kind, status, pages)
  SELECT crawl_id, domain, kind, status, count(*) FROM added GROUP BY crawl_id, domain, kind, status;
  RETURN NULL;
END $$;

CREATE TRIGGER pages_added AFTER INSERT ON pages
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION record_added_pages();

-- Without a join of old and new rows: its plan would be made for one page and kept for 100,000 that are cancelled together.
CREATE OR REPLACE FUNCTION record_changed_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO crawl_changes (crawl_id, domain, kind, status, error_kind, status_code, pages, links_found, links_skipped)
  SELECT crawl_id, domain, kind, status, error_kind, status_code, sum(pages), coalesce(sum(links_found), 0),
         jsonb_agg(links_skipped) FILTER (WHERE links_skipped IS NOT NULL)
  FROM (
    SELECT crawl_id, domain, kind, status, error_kind, status_code, 1 AS pages, links_found, links_skipped FROM changed
    UNION ALL
    SELECT crawl_id, domain, kind, status, error_kind, status_code, -1, NULL, NULL FROM replaced
  ) AS page
  GROUP BY crawl_id, domain, kind, status, error_kind, status_code HAVING sum(pages) <> 0;
  RETURN NULL;
END $$;

CREATE TRIGGER pages_changed AFTER UPDATE ON pages
  REFERENCING OLD TABLE AS replaced NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION record_changed_pages();

CREATE OR REPLACE FUNCTION record_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO crawl_changes (crawl_id, outcome, attempts)
  SELECT page.crawl_id, added.outcome, count(*) FROM added JOIN pages page ON page.id = added.page_id
  GROUP BY page.crawl_id, added.outcome;
  RETURN NULL;
END $$;

CREATE TRIGGER page_crawls_added AFTER INSERT ON page_crawls
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION record_attempts();
