/** The setting `contentStore`: a directory, or a bucket whose access is read from the variables of AWS's own tools. */
import { join, resolve } from 'node:path';
import type { ContentLocation, S3Location } from '../core/content-location.ts';
import { BadInput } from '../core/errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const S3_URL = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;

/** `written`: null if it is not set. */
export function toContentLocation(
  written: string | null,
  { home, cwd, env }: { home: string; cwd: string; env: Environment },
): ContentLocation {
  if (written === null) return { kind: 'directory', path: join(home, 'content') };
  return written.startsWith('s3:')
    ? toS3Location(written, env)
    : { kind: 'directory', path: resolve(cwd, written) };
}

function toS3Location(written: string, env: Environment): S3Location {
  const [, bucket, path = ''] = S3_URL.exec(written) ?? [];
  if (bucket === undefined)
    throw new BadInput(`"contentStore" is "${written}", but must be a directory or like s3://bucket/prefix.`);
  // The server would refuse the key, and the reason would not be told.
  if (env.AWS_SESSION_TOKEN)
    throw new BadInput(
      '"contentStore" is a bucket, but AWS_SESSION_TOKEN is set: temporary credentials are not supported, use a key of a user.',
    );
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1';
  const prefix = path.replace(/\/+$/, '');
  return {
    kind: 's3',
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint: endpointOf(env) ?? `https://s3.${region}.amazonaws.com`,
    region,
    accessKeyId: required(env, 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: required(env, 'AWS_SECRET_ACCESS_KEY'),
  };
}

function endpointOf(env: Environment): string | null {
  const name = env.AWS_ENDPOINT_URL_S3 ? 'AWS_ENDPOINT_URL_S3' : 'AWS_ENDPOINT_URL';
  const endpoint = env[name] || null;
  if (endpoint !== null && !/^https?:\/\/[^/]/.test(endpoint))
    throw new BadInput(`${name} is "${endpoint}", but must be a URL such as https://s3.example.org.`);
  return endpoint?.replace(/\/+$/, '') ?? null;
}

function required(env: Environment, name: string): string {
  const value = env[name];
  if (value) return value;
  throw new BadInput(`"contentStore" is a bucket, but ${name} is not set in the environment.`);
}
