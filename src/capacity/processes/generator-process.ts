// The generator's process from the outside: one job at a time.
import type { ChildProcess } from 'node:child_process';
import type { GeneratorMessage, Job, JobReport } from '../generator/job.js';
import { forkPinned, measuringCore, messageOf } from './pinned-process.js';

const PROGRAM = new URL('../generator/program.js', import.meta.url);

export class GeneratorProcess {
  private constructor(private readonly child: ChildProcess) {}

  static async start(): Promise<GeneratorProcess> {
    const child = forkPinned(PROGRAM, [], String(measuringCore()));
    await messageOf<GeneratorMessage>(child);
    return new GeneratorProcess(child);
  }

  /**
   * @param onConnected called when all connections are open, before anything is sent
   * @throws Error for a wrong answer of the server, a lost connection or one that cannot be opened
   */
  async run(job: Job, onConnected: () => void = () => {}): Promise<JobReport> {
    this.child.send(job);
    for (;;) {
      const message = await messageOf<GeneratorMessage>(this.child);
      if (message.kind === 'connected') onConnected();
      else if (message.kind === 'done') return message.report;
      else if (message.kind === 'failed') throw new Error(message.reason);
    }
  }

  end(): void {
    if (this.child.connected) this.child.disconnect();
  }
}
