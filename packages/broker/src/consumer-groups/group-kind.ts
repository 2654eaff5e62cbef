/** Kind of a consumer group's offsets. */
export const GROUP_KIND = 2;
