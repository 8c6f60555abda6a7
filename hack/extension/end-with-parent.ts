// Preload module for servers that npm start, a test or the bench starts: shuts the server down if that process dies
// without stopping it.
process.once('disconnect', () => {
  process.kill(process.pid, 'SIGTERM');
});
