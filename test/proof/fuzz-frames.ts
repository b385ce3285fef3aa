// `npm run proof -- fuzz-frames [--size 2000000] [--for 30m] [--seed S]`: damaged messages and WebSocket frames of both
// subprotocols against one server process. The small twin is in test/e2e/server/fuzz.test.ts.
import { FramesFuzz } from '../support/fuzz-frames.js';
import { randomFrom } from '../support/open-world.js';
import { shippedKernel } from '../support/shipped.js';
import { runFuzz } from './fuzz-run.js';

/** Some twenty seconds. */
const WARM_UP_MESSAGES = 100_000;

export default async function proveFuzzFrames(args: string[]): Promise<void> {
  const kernel = shippedKernel();
  await runFuzz(
    'fuzz-frames',
    args,
    2_000_000,
    async (server, seed, length) => {
      const fuzz = new FramesFuzz(server, kernel, randomFrom(seed));
      await fuzz.run((done) => length.goesOn(done));
      const { messages, answered, broken, faults } = fuzz;
      return {
        reached: `${messages} messages: ${answered} damaged and answered, ${broken} in damaged WebSocket frames`,
        faults,
      };
    },
    WARM_UP_MESSAGES,
  );
}
