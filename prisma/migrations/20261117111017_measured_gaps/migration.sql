-- AlterTable
ALTER TABLE "requests" ADD COLUMN     "measured_from" TEXT;
