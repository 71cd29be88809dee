/** Where bodies and parsed documents are stored. */
export type ContentLocation = { kind: 'directory'; path: string } | S3Location;

export interface S3Location {
  kind: 's3';
  bucket: string;
  /** Of every object's name: empty, or with a slash at its end. */
  prefix: string;
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** For messages: a directory, or `s3://bucket/prefix`. */
export function describeContentLocation(location: ContentLocation): string {
  return location.kind === 'directory' ? location.path : `s3://${location.bucket}/${location.prefix}`;
}

/** Its name among the dependencies that workers report. */
export const CONTENT_STORE = 'Content store';
