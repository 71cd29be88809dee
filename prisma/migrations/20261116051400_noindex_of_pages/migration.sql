-- AlterTable
ALTER TABLE "pages" ADD COLUMN     "noindex" BOOLEAN NOT NULL DEFAULT false;
