/**
 * Loaded once into the sandbox of the workflows, before any of them runs. The SDK takes a stack trace for every promise a
 * workflow makes, for the Web UI's "Call Stack": with them a page costs a worker a third more. What a workflow waits for is
 * told by the summaries of its timers and activities. To find a bug in a workflow, set this to 10 and build again.
 */
Error.stackTraceLimit = 0;
