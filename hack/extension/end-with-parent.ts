// Preload module for a server that npm start, a test or the bench starts. It shuts the server down if the parent
// process dies without stopping the server.
process.once('disconnect', () => {
  process.kill(process.pid, 'SIGTERM');
});
