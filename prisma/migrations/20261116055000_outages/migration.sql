-- AlterTable
ALTER TABLE "domains" ADD COLUMN     "outages" JSONB NOT NULL DEFAULT '{}';
