// Starts the page in the browser.
import { h, render } from 'preact';
import { App } from './app.ts';

const page = document.querySelector('#page');
if (page) render(h(App, {}), page);
