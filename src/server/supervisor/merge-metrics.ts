// Pages of metrics of several processes as one, in the text format of Prometheus (0.0.4): each sample gets a label
// `process`, and all samples of a metric come together behind its HELP and TYPE, as the format demands.

interface Page {
  readonly number: number;
  readonly text: string;
}

interface Family {
  readonly comments: string[];
  readonly samples: string[];
}

const COMMENT = /^# (?:HELP|TYPE) (\S+)/;
const SAMPLE = /^([A-Za-z_:][\w:]*)(\{)?(.*)$/;

export function mergeMetrics(pages: readonly Page[]): string {
  const families = new Map<string, Family>();
  const familyOf = (name: string): Family => {
    const known = families.get(name);
    if (known !== undefined) return known;
    const made: Family = { comments: [], samples: [] };
    families.set(name, made);
    return made;
  };
  for (const { number, text } of pages) {
    // Samples follow the comments of their metric; those of a histogram have longer names than it.
    let current: Family | undefined;
    let currentName = '';
    for (const line of text.split('\n')) {
      const commented = COMMENT.exec(line)?.[1];
      if (commented !== undefined) {
        currentName = commented;
        current = familyOf(commented);
        if (!current.comments.includes(line)) current.comments.push(line);
        continue;
      }
      const [, name, brace, rest = ''] = SAMPLE.exec(line) ?? [];
      if (name === undefined) continue;
      const family = current !== undefined && name.startsWith(currentName) ? current : familyOf(name);
      const label = `process="${number}"`;
      const labels =
        brace === undefined ? `{${label}}${rest}` : `{${label}${rest.startsWith('}') ? '' : ','}${rest}`;
      family.samples.push(name + labels);
    }
  }
  return [...families.values()]
    .map(({ comments, samples }) => `${[...comments, ...samples].join('\n')}\n`)
    .join('\n');
}
