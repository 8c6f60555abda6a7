// Starts the page in the browser.
import { h, render } from 'preact';
import { App } from './app.ts';
import { applyScheme } from './header.ts';

applyScheme();
const page = document.querySelector('#page');
if (page) render(h(App, {}), page);
