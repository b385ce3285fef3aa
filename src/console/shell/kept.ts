// The few choices of the visitor that outlive a visit: language and theme. A browser that keeps nothing is no fault.

export function kept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice holds for this visit.
  }
}
