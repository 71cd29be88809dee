/** Temporal's worker versioning: the server chooses the build whose workers get the tasks. */
import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';

/** Operators type it. One is enough: a namespace has one installation. */
const DEPLOYMENT = 'amble';

const GRPC_NOT_FOUND = 5;

/**
 * Every workflow moves to the current version with its next task. A pinned one would need workers of its old version until it
 * ends: throttles and crawls run for weeks, and a page that waits for days would wait forever once they are gone. So workflow
 * code has to stay replayable: see "Changing workflow code" in docs/architecture.md.
 */
export function versioningOptions(buildId: string | null): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (buildId === null) return {};
  return {
    workerDeploymentOptions: {
      useWorkerVersioning: true,
      version: { deploymentName: DEPLOYMENT, buildId },
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  };
}

/** A worker of another build than the current one gets no tasks, which looks as if there were nothing to do. */
export async function warnIfNotCurrent(client: Client, buildId: string | null, log: Logger): Promise<void> {
  const builds = await servedBuilds(client).catch((err: unknown) => {
    log.debug({ err }, 'could not read which build of the workers is the current one');
    return null;
  });
  if (builds === null || builds.includes(buildId)) return;
  const cure =
    buildId === null
      ? 'it has no AMBLE_BUILD_ID'
      : `temporal worker deployment set-current-version --deployment-name ${DEPLOYMENT} --build-id ${buildId}`;
  log.warn(
    { buildId, current: builds[0] },
    `another build is the current one, so this worker gets no tasks: ${cure}`,
  );
}

/** The current build first, then the one that is ramping up. null: workers without a build id. */
async function servedBuilds({ workflowService, options: { namespace } }: Client): Promise<(string | null)[]> {
  try {
    const { workerDeploymentInfo } = await workflowService.describeWorkerDeployment({
      namespace,
      deploymentName: DEPLOYMENT,
    });
    const { currentDeploymentVersion: current, rampingDeploymentVersion: ramping } =
      workerDeploymentInfo?.routingConfig ?? {};
    return [current, ...(ramping ? [ramping] : [])].map((version) => version?.buildId ?? null);
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === GRPC_NOT_FOUND) return [null];
    throw error;
  }
}
