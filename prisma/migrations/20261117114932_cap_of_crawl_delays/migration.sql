-- AlterTable
ALTER TABLE "robots_rules" ADD COLUMN     "max_crawl_delay_ms" INTEGER;
