// Kinds of Arrow messages: `MessageHeader` of the format.

export const SCHEMA = 1;
export const DICTIONARY = 2;
export const RECORDS = 3;
