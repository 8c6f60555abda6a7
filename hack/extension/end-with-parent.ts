// Loaded into a server that npm start, a test or the bench has started: when that ends without a word, killed for
// instance, the server ends as well, in good order.
process.once('disconnect', () => {
  process.kill(process.pid, 'SIGTERM');
});
