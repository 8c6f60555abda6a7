// A program that does nothing but check passwords, as fast as its core lets it: the limit of every sign-in. Says when
// it is ready, then for each line on standard input, a number of seconds, how many it has checked in a second.
import { createInterface } from 'node:readline';
import { hash, verify } from '@node-rs/argon2';

const PASSWORD = 'only to be checked again and again';
const AT_A_TIME = 2;

const stored = await hash(PASSWORD);
process.stdout.write('ready\n');
for await (const line of createInterface(process.stdin)) {
  const seconds = Number(line);
  const until = performance.now() + seconds * 1000;
  let checked = 0;
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      while (performance.now() < until) {
        await verify(stored, PASSWORD);
        checked++;
      }
    }),
  );
  process.stdout.write(`${checked / seconds}\n`);
}
