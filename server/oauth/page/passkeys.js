// Runs in browsers, on pages with a form for a passkey: calls WebAuthn with the options of the form, and submits the result with
// the form. In a browser without passkeys, the page stays as it is.
(() => {
  const form = document.querySelector('form[data-passkey]');
  const webAuthn = globalThis.PublicKeyCredential;
  if (!form || !webAuthn?.parseRequestOptionsFromJSON || !webAuthn.parseCreationOptionsFromJSON) return;
  const { passkey: kind, options: json } = form.dataset;
  const options = JSON.parse(json);
  const button = form.querySelector('button[data-start]');
  const message = form.querySelector('[data-message]');
  const field = form.elements.passkey;
  /** At most one request can be open, so the one of the autofill ends before another begins. */
  let open = new AbortController();

  const request = (more) =>
    kind === 'create'
      ? navigator.credentials.create({ ...more, publicKey: webAuthn.parseCreationOptionsFromJSON(options) })
      : navigator.credentials.get({ ...more, publicKey: webAuthn.parseRequestOptionsFromJSON(options) });

  const run = async (more = {}) => {
    open.abort();
    open = new AbortController();
    field.value = JSON.stringify(await request({ ...more, signal: open.signal }));
    form.submit();
    // Otherwise the next form after a return to this page would have it.
    field.value = '';
  };

  const show = (error) => {
    message.textContent =
      error.name === 'InvalidStateError'
        ? 'This device already has a passkey for your account.'
        : 'No passkey was used. Try again, or choose another way.';
    message.hidden = false;
  };

  /** A second click would replace the passkey that the first one has created. */
  let isStarted = false;
  button.hidden = false;
  button.addEventListener('click', () => {
    if (isStarted) return;
    isStarted = true;
    message.hidden = true;
    run().catch((error) => {
      isStarted = false;
      show(error);
    });
  });
  // Also after a return to this page.
  addEventListener('pageshow', () => {
    isStarted = false;
  });
  for (const note of form.querySelectorAll('[data-unsupported]')) note.hidden = true;
  if (form.querySelector('[autocomplete~="webauthn"]')) {
    const autofill = async () => {
      if (await webAuthn.isConditionalMediationAvailable?.()) await run({ mediation: 'conditional' });
    };
    // The user has chosen nothing, or the button.
    autofill().catch(() => undefined);
  }
})();
