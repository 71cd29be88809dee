/** docker-compose.yml as the tests read it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { packageRoot } from '../../src/core/package-root.ts';

const Service = z.looseObject({
  image: z.string(),
  profiles: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  environment: z.record(z.string(), z.string()).default({}),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  healthcheck: z
    .looseObject({ test: z.array(z.string()).optional(), disable: z.boolean().optional() })
    .optional(),
  restart: z.string(),
  stop_grace_period: z.string().optional(),
  deploy: z.looseObject({
    replicas: z.number().optional(),
    resources: z.object({ limits: z.object({ cpus: z.string(), memory: z.string() }) }),
  }),
});

const Compose = z.looseObject({
  services: z.record(z.string(), Service),
  volumes: z.record(z.string(), z.unknown()),
});

export type ComposeService = z.infer<typeof Service>;

export const composeText = readFileSync(join(packageRoot, 'docker-compose.yml'), 'utf8');

export const compose = Compose.parse(parse(composeText, { merge: true }));

export function composeService(name: string): ComposeService {
  const service = compose.services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}.`);
  return service;
}

/** The `ENV` lines of the Dockerfile. */
export function imageEnvironment(): Record<string, string> {
  const [, block = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(readDockerfile()) ?? [];
  return Object.fromEntries([...block.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));
}

/** The command of the image's `HEALTHCHECK`. */
export function imageHealthcheck(): string[] {
  const [, command = ''] = /HEALTHCHECK .*\\\n +CMD (\[.*\])$/m.exec(readDockerfile()) ?? [];
  return z.array(z.string()).parse(JSON.parse(command));
}

export function readDockerfile(): string {
  return readFileSync(join(packageRoot, 'Dockerfile'), 'utf8');
}

/** Services by start-up: each after those it depends on. Throws if there is a cycle. */
export function startOrder(): string[] {
  const order: string[] = [];
  const visit = (name: string, above: readonly string[]): void => {
    if (order.includes(name)) return;
    if (above.includes(name)) throw new Error(`A cycle: ${[...above, name].join(' → ')}`);
    for (const needed of Object.keys(composeService(name).depends_on)) visit(needed, [...above, name]);
    order.push(name);
  };
  for (const name of Object.keys(compose.services)) visit(name, []);
  return order;
}
