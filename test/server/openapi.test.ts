/** The OpenAPI document, as a linter reads it. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createInterceptors } from '../../src/temporal/connection.ts';
import { openDashboard } from '../dashboard/support.ts';

test('the document of the API has nothing that a linter complains about', async () => {
  const db = openDatabase('postgresql://nobody@127.0.0.1:1/none');
  const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: createInterceptors() });
  try {
    const config = loadConfig({ env: {}, cwd: '/', flags: {} });
    const { get } = openDashboard({ config, db, client: new Client({ connection }) });
    const source = await (await get('/api/v1/openapi.json')).text();
    const rules = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config: rules });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  } finally {
    await Promise.all([db.$disconnect(), connection.close()]);
  }
});
