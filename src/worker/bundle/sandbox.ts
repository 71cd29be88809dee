/**
 * Loaded once into the workflow sandbox, before any workflow runs. The SDK records a stack trace for every promise, for the
 * Web UI's "Call Stack", which makes a page a third more expensive. The summaries of timers and activities show what a
 * workflow waits for. To debug a workflow, set this to 10 and rebuild.
 */
Error.stackTraceLimit = 0;
