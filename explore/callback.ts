// The page of the redirect URI: completes a sign-in, in the window or in the hidden frame of a renewal.
document.title = 'Signing in';
