// A symbolic link that stays where it is right already: tests that run meanwhile find what is after it.
import { lstatSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';

export function linkTo(target, path) {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(path) === target) return;
  rmSync(path, { force: true });
  symlinkSync(target, path);
}
