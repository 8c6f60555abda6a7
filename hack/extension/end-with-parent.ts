// Loaded into a server that npm start, a test or the bench has started: when that process ends without stopping it, by a
// kill for instance, the server shuts down as well.
process.once('disconnect', () => {
  process.kill(process.pid, 'SIGTERM');
});
