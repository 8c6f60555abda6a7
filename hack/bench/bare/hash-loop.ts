// A program that only checks passwords, as fast as its core lets it: the limit of every sign-in. Says when
// it is ready, then for each line on standard input (seconds, and how many to check at a time) how many it has checked
// in a second.
import { createInterface } from 'node:readline';
import { hash, verify } from '@node-rs/argon2';

const PASSWORD = 'only to be checked again and again';

const stored = await hash(PASSWORD);
process.stdout.write('ready\n');
for await (const line of createInterface(process.stdin)) {
  const [seconds = 0, atATime = 1] = line.split(' ').map(Number);
  const until = performance.now() + seconds * 1000;
  let checked = 0;
  await Promise.all(
    Array.from({ length: atATime }, async () => {
      while (performance.now() < until) {
        await verify(stored, PASSWORD);
        checked++;
      }
    }),
  );
  process.stdout.write(`${checked / seconds}\n`);
}
