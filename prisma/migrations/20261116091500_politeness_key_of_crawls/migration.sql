-- CreateEnum
CREATE TYPE "politeness_unit" AS ENUM ('host', 'site');

-- AlterTable
ALTER TABLE "crawls" ADD COLUMN     "keyed_by" "politeness_unit";
