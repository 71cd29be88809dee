/** A recorded history, and a summary of it: one short line per event, in order. */
import { z } from 'zod';
import type { SentMessage } from './sent-messages.ts';

const payloads = z.object({ payloads: z.array(z.object({ data: z.string().optional() })).optional() });
const event = z.looseObject({ eventId: z.string(), eventType: z.string() });
const history = z.looseObject({ events: z.array(event).min(1) });

export type HistoryEvent = z.infer<typeof event>;
export type History = z.infer<typeof history>;

export function readHistory(json: string): History {
  return history.parse(JSON.parse(json));
}

const named = z.looseObject({ name: z.string() });
/** The attributes that a summary needs, of all kinds of events together: each event has some of them. */
const attributesSchema = z.looseObject({
  workflowType: named.optional(),
  activityType: named.optional(),
  scheduledEventId: z.string().optional(),
  signalName: z.string().optional(),
  input: payloads.optional(),
  result: payloads.optional(),
  details: z.record(z.string(), payloads).optional(),
  acceptedRequest: z.looseObject({ input: z.looseObject({ name: z.string() }) }).optional(),
  acceptedEventId: z.string().optional(),
  outcome: z.looseObject({ success: payloads.optional() }).optional(),
  failure: z
    .looseObject({ timeoutFailureInfo: z.looseObject({ timeoutType: z.string() }).optional() })
    .optional(),
  workflowId: z.string().optional(),
  workflowExecution: z.looseObject({ workflowId: z.string() }).optional(),
  meta: z.looseObject({ updateId: z.string() }).optional(),
  firstExecutionRunId: z.string().optional(),
  continuedExecutionRunId: z.string().optional(),
  newExecutionRunId: z.string().optional(),
  startToFireTimeout: z.string().optional(),
});
type Attributes = z.infer<typeof attributesSchema>;

export function attributesOf(of: HistoryEvent): Attributes {
  const key = Object.keys(of).find((name) => name.endsWith('EventAttributes'));
  return attributesSchema.parse(key === undefined ? {} : of[key]);
}

/** Has the workflow's id, which pages and crawls use. */
export function firstEventOf({ events }: History): Attributes {
  return events[0] === undefined ? {} : attributesOf(events[0]);
}

/** Such as "local acquireSlot granted", "timer started", "signal askAgain". Workflow tasks are left out. */
export function summarize({ events }: History): string[] {
  const byId = new Map(events.map((one) => [one.eventId, attributesOf(one)]));
  return events
    .map((one) => lineOf(one, attributesOf(one), (id) => byId.get(id ?? '') ?? {}))
    .filter((line) => line !== null);
}

/** The messages that the workflow sent, as sent-messages.ts reports them in a replay. */
export function messagesSentIn({ events }: History): SentMessage[] {
  const messages = events.map((one): SentMessage | null => {
    const { workflowExecution, signalName, input, meta, outcome } = attributesOf(one);
    if (one.eventType === 'EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED')
      return { to: `${workflowExecution?.workflowId} ${signalName}`, content: firstOf(input) };
    if (one.eventType === 'EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED')
      return { to: meta?.updateId ?? '', content: firstOf(outcome?.success) };
    return null;
  });
  return sorted(messages.filter((one) => one !== null));
}

/** By receiver: between receivers the order of events is not that of the code. */
export function sorted(messages: readonly SentMessage[]): SentMessage[] {
  return [...messages].sort((a, b) => (a.to < b.to ? -1 : a.to > b.to ? 1 : 0));
}

function lineOf(
  { eventType }: HistoryEvent,
  attributes: Attributes,
  earlier: (eventId: string | undefined) => Attributes,
): string | null {
  const type = eventType.replace('EVENT_TYPE_', '');
  switch (type) {
    case 'WORKFLOW_TASK_SCHEDULED':
    case 'WORKFLOW_TASK_STARTED':
    case 'WORKFLOW_TASK_COMPLETED':
    case 'ACTIVITY_TASK_STARTED':
      return null;
    case 'WORKFLOW_EXECUTION_STARTED':
      return attributes.continuedExecutionRunId ? 'started from an earlier run' : 'started';
    case 'ACTIVITY_TASK_SCHEDULED':
      return `scheduled ${attributes.activityType?.name}`;
    case 'ACTIVITY_TASK_COMPLETED':
      return words(
        'completed',
        earlier(attributes.scheduledEventId).activityType?.name,
        gist(attributes.result),
      );
    case 'ACTIVITY_TASK_TIMED_OUT':
      return words(
        'timed out',
        earlier(attributes.scheduledEventId).activityType?.name,
        attributes.failure?.timeoutFailureInfo?.timeoutType.replace('TIMEOUT_TYPE_', '').toLowerCase(),
      );
    case 'MARKER_RECORDED':
      return markerLine(attributes);
    case 'WORKFLOW_EXECUTION_SIGNALED':
      return words('signal', attributes.signalName, gist(attributes.input));
    case 'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED':
      return words('signals', attributes.signalName);
    case 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED':
      return words('update', attributes.acceptedRequest?.input.name);
    case 'WORKFLOW_EXECUTION_UPDATE_COMPLETED': {
      const { acceptedRequest } = earlier(attributes.acceptedEventId);
      return words('answered', acceptedRequest?.input.name, gist(attributes.outcome?.success));
    }
    case 'START_CHILD_WORKFLOW_EXECUTION_INITIATED':
      return words('starts', attributes.workflowType?.name);
    default:
      return type.replace('WORKFLOW_EXECUTION_', '').replaceAll('_', ' ').toLowerCase();
  }
}

function markerLine({ details, failure }: Attributes): string {
  const data = z.looseObject({ activity_type: z.string().optional() }).parse(firstOf(details?.data) ?? {});
  return words('local', data.activity_type, failure === undefined ? gist(details?.result) : 'failed');
}

const summarized = z.looseObject({
  kind: z.string().optional(),
  report: z.looseObject({ outcome: z.string(), found: z.looseObject({ kind: z.string() }) }).optional(),
  use: z.looseObject({ kind: z.string(), responseClass: z.string().optional() }).optional(),
});

/** The words that distinguish results. */
function gist(of: z.infer<typeof payloads> | undefined): string | undefined {
  const content = firstOf(of);
  // Asks and reports travel in lists.
  return [content].flat().map(gistOf).join(', ') || undefined;
}

function gistOf(content: unknown): string {
  const read = summarized.safeParse(content);
  if (!read.success) return '';
  const { kind, report, use } = read.data;
  return words(kind, report?.outcome, report?.found.kind, use?.kind, use?.responseClass);
}

function firstOf(of: z.infer<typeof payloads> | undefined): unknown {
  const data = of?.payloads?.[0]?.data;
  return data === undefined ? undefined : JSON.parse(Buffer.from(data, 'base64').toString());
}

function words(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(' ');
}
