-- AlterTable
ALTER TABLE "robots" ADD COLUMN     "agent" TEXT;
