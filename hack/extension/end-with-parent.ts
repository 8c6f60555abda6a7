// Preload module that stops the server after the death of its parent process.
process.once('disconnect', () => {
  process.kill(process.pid, 'SIGTERM');
});
