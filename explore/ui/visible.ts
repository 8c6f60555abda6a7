// Whether the tab is visible. Hidden tabs close their streams, because a browser has few connections for all tabs.
import { useEffect, useState } from 'preact/hooks';

export function useVisible(): boolean {
  const [isVisible, setVisible] = useState(() => !document.hidden);
  useEffect(() => {
    const changed = (): void => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', changed);
    return () => document.removeEventListener('visibilitychange', changed);
  }, []);
  return isVisible;
}
