/** Ends a test run with one line for machines, `N passed, N failed`, alone and last. */
import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { closingLines } from './closing-lines.ts';

export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      let failedTests = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'failed') failedTests++;
        else if (state === 'passed') count.passed++;
        else count.skipped++;
      }
      // A file that did not load, or whose hooks failed, may have no failed test to show for it.
      count.failed += failedTests === 0 && module.state() === 'failed' ? 1 : failedTests;
    }
    // At the very end, after the output of the other reporters and of the teardown.
    process.once('exit', () => writeSync(1, closingLines(count)));
  }
}
