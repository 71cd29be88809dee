-- AlterTable
ALTER TABLE "requests" ADD COLUMN     "agent" TEXT,
ADD COLUMN     "rules_id" BIGINT;

-- AlterTable
ALTER TABLE "robots" ADD COLUMN     "rules_id" BIGINT;

-- CreateTable
CREATE TABLE "robots_rules" (
    "id" BIGSERIAL NOT NULL,
    "origin" TEXT NOT NULL,
    "body" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "robots_rules_pkey" PRIMARY KEY ("id")
);

-- Rules that are in force stay in force: from now on requests are recorded with them.
INSERT INTO "robots_rules" ("origin", "body") SELECT "origin", "body" FROM "robots" WHERE "fetched_at" IS NOT NULL;
UPDATE "robots" SET "rules_id" = (SELECT "id" FROM "robots_rules" WHERE "robots_rules"."origin" = "robots"."origin")
WHERE "fetched_at" IS NOT NULL;
