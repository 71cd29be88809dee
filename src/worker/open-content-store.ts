import type { ContentLocation } from '../core/content-location.ts';
import { type ContentStore, openDirectoryStore } from './content-store.ts';
import { openS3Store } from './s3-store.ts';

export function openContentStore(location: ContentLocation): ContentStore {
  return location.kind === 'directory' ? openDirectoryStore(location.path) : openS3Store(location);
}
