/** Adds to the log lines of an activity which page, crawl and workflow it works for. */
import type { Context } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { type LogFields, withLogFields } from '../core/log-context.ts';

export function logActivities(context: Context): { inbound: ActivityInboundCallsInterceptor } {
  const workflowId = context.info.workflowExecution?.workflowId;
  return {
    inbound: {
      execute: (input, next) =>
        withLogFields({ ...(workflowId !== undefined && { workflowId }), ...fieldsOf(input.args[0]) }, () =>
          next(input),
        ),
    },
  };
}

/** Activities are given an object; its names for these are the same everywhere (src/core/activities.ts). */
function fieldsOf(input: unknown): LogFields {
  return {
    ...textAt(input, 'crawlId'),
    ...textAt(input, 'pageId'),
    ...textAt(input, 'domain'),
    ...attemptOf(input),
  };
}

function textAt(input: unknown, key: 'crawlId' | 'pageId' | 'domain'): LogFields {
  const value = propertyOf(input, key);
  return typeof value === 'string' ? { [key]: value } : {};
}

function attemptOf(input: unknown): LogFields {
  const attempt = propertyOf(input, 'attempt') ?? propertyOf(propertyOf(input, 'event'), 'attempt');
  return typeof attempt === 'number' ? { attempt } : {};
}

function propertyOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
