// Saves a stream of bytes as a file of the user, in a browser.
import type { LogExport } from './log-export.ts';

/** https://wicg.github.io/file-system-access/ */
interface FilePicker {
  readonly showSaveFilePicker?: (options: {
    readonly suggestedName: string;
  }) => Promise<{ readonly createWritable: () => Promise<WritableStream<Uint8Array>> }>;
}

type ChosenFile = WritableStream<Uint8Array> | undefined;

/** Time in ms after which the browser has begun the download. */
const BEGUN_MS = 60_000;

/** The file that the user chooses; `none` if the user closes the dialog. Undefined: the browser has no dialog. */
export async function chosenFile(suggestedName: string): Promise<ChosenFile | 'none'> {
  const { showSaveFilePicker } = globalThis as FilePicker;
  try {
    const file = await showSaveFilePicker?.call(globalThis, { suggestedName });
    return await file?.createWritable();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return 'none';
    throw error;
  }
}

/** `onProgress`: called with the number of bytes so far. */
export async function saveBody(
  { name, body }: Pick<LogExport, 'name' | 'body'>,
  file: ChosenFile,
  onProgress: (bytes: number) => void,
): Promise<void> {
  let bytes = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      onProgress(bytes);
      controller.enqueue(chunk);
    },
  });
  const counted = body.pipeThrough(counting);
  if (file) return counted.pipeTo(file);
  const href = URL.createObjectURL(await new Response(counted).blob());
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), BEGUN_MS);
}
