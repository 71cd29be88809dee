-- AlterTable
ALTER TABLE "pages" ADD COLUMN     "nofollow" BOOLEAN NOT NULL DEFAULT false;
