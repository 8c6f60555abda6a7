// Checks the contrast between text and background on an HTML page.
import type { Page } from 'puppeteer-core';

/**
 * The visible texts of a page whose contrast is below 4.5:1 (WCAG 2.2, 1.4.3), each with its ratio and element. Texts of
 * disabled controls are exempt.
 */
export async function lowContrasts(page: Page): Promise<string[]> {
  return (await page.evaluate(`(() => { ${CONTRAST} ${LOW_CONTRASTS} })()`)) as string[];
}

/** Contrast of the text of an element with its background, or of its border with the background of its parent. */
export async function contrastOf(
  page: Page,
  selector: string,
  property: 'color' | 'borderTopColor',
): Promise<number> {
  const below = property === 'color' ? 'element' : 'element.parentElement';
  const script = `
    const element = document.querySelector('${selector}');
    return contrast(colorOf(getComputedStyle(element).${property}), backgroundOf(${below}));`;
  return (await page.evaluate(`(() => { ${CONTRAST} ${script} })()`)) as number;
}

// Text, since this project has no types of the DOM.
const CONTRAST = `
  const colorOf = (text) => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (text.match(/[\\d.]+/g) ?? []).map(Number);
    // A mixed color, such as color(srgb 0.5 0.5 0.5).
    const scale = text.startsWith('color(') ? 255 : 1;
    return { channels: [red, green, blue].map((value) => value * scale), alpha };
  };
  const over = ({ channels, alpha }, below) => channels.map((value, i) => value * alpha + below[i] * (1 - alpha));
  const backgroundOf = (element) =>
    element === null
      ? [255, 255, 255]
      : over(colorOf(getComputedStyle(element).backgroundColor), backgroundOf(element.parentElement));
  const luminance = (channels) => {
    const [red, green, blue] = channels
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (color, background) => {
    const [lighter, darker] = [luminance(over(color, background)), luminance(background)].sort((a, b) => b - a);
    return (lighter + 0.05) / (darker + 0.05);
  };`;

/** Transitions end first: nobody reads a text in the colors between two states. */
const LOW_CONTRASTS = `
  for (const animation of document.getAnimations()) {
    if (animation.effect.getComputedTiming().endTime < Infinity) animation.finish();
  }
  const hasText = (element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== '');
  const isShown = (element) =>
    element.checkVisibility() &&
    element.getBoundingClientRect().width > 0 &&
    element.closest('select:disabled, button:disabled') === null;
  const found = new Set();
  for (const element of document.querySelectorAll('body *')) {
    if (!hasText(element) || !isShown(element)) continue;
    const ratio = contrast(colorOf(getComputedStyle(element).color), backgroundOf(element));
    if (ratio < 4.5) found.add(ratio.toFixed(2) + ' ' + element.tagName + ' ' + element.className);
  }
  return [...found];`;
