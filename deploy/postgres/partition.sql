-- Splits pages and requests into partitions by crawl. Once, while no worker runs: psql --file deploy/postgres/partition.sql "$DATABASE_URL"
-- PGOPTIONS='-c amble.partitions=64' sets their number, which cannot be changed later; without it there are 16.
--
-- A crawl is in one partition, whichever its hash chooses: autovacuum, indexes and backups then work on parts of the table. The foreign keys
-- of attempts and links are dropped, because an id alone is no longer a key of pages. If you delete a crawl, delete theirs first.
BEGIN;

ALTER TABLE page_crawls DROP CONSTRAINT page_crawls_page_id_fkey;
ALTER TABLE links DROP CONSTRAINT links_page_id_fkey;
-- It must outlive the table that it belongs to.
ALTER SEQUENCE pages_id_seq OWNED BY NONE;

DO $$
DECLARE
  partitions int := coalesce(nullif(current_setting('amble.partitions', true), ''), '16');
  whole regclass;
  part_of text;
  key text;
  definitions text[];
  definition text;
BEGIN
  -- Every unique index must contain the crawl. It is the last column of a primary key, so that a page is found by its id too.
  FOR part_of, key IN VALUES ('pages', 'id, crawl_id'), ('requests', 'lease_id, started_at, crawl_id') LOOP
    whole := part_of::regclass;
    SELECT array_agg(one) INTO definitions FROM (
      SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = whole AND NOT indisprimary
      UNION ALL
      SELECT format('ALTER TABLE %I ADD CONSTRAINT %I %s', part_of, conname, pg_get_constraintdef(oid))
      FROM pg_constraint WHERE conrelid = whole AND contype = 'f'
      UNION ALL
      SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = whole AND NOT tgisinternal
    ) AS defined (one);
    EXECUTE format('ALTER TABLE %I RENAME TO whole', part_of);
    EXECUTE format('CREATE TABLE %I (LIKE whole INCLUDING DEFAULTS) PARTITION BY HASH (crawl_id)', part_of);
    FOR number IN 0 .. partitions - 1 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                     part_of || '_' || number, part_of, partitions, number);
    END LOOP;
    EXECUTE format('INSERT INTO %I SELECT * FROM whole', part_of);
    DROP TABLE whole;
    EXECUTE format('ALTER TABLE %1$I ADD CONSTRAINT %2$I PRIMARY KEY (%3$s)', part_of, part_of || '_pkey', key);
    FOREACH definition IN ARRAY definitions LOOP
      EXECUTE definition;
    END LOOP;
  END LOOP;
END $$;

ALTER SEQUENCE pages_id_seq OWNED BY pages.id;

COMMIT;
ANALYZE pages;
ANALYZE requests;
