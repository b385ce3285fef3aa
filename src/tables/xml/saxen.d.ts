// Types for the part of saxen that is used: it has none of its own.

declare module 'saxen' {
  type Decode = (text: string) => string;
  interface Hooks {
    openTag: (name: string, attributes: () => object, decode: Decode) => void;
    closeTag: (name: string) => void;
    text: (text: string, decode: Decode) => void;
    cdata: (text: string) => void;
    error: (error: Error) => void;
    warn: (error: Error) => void;
  }
  export class Parser {
    on<Name extends keyof Hooks>(name: Name, hook: Hooks[Name]): this;
    write(text: string): this;
    end(): Error | undefined;
  }
}
