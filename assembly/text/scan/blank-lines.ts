// Lines without a row that the last scan of lines passed: rows and they make the number of a line in its file.

export let blankLines: u32 = 0;

export function clearBlankLines(): void {
  blankLines = 0;
}

// @ts-ignore: decorator
@inline
export function addBlankLine(): void {
  blankLines++;
}
