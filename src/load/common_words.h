// The vocabulary of synthetic prompts: common English words, nearly all of them one token to any tokenizer.
// Changing this list changes every synthetic trace: the golden hash in request_trace_test.cc then moves.
#pragma once

#include <string_view>

namespace hyperloom {

inline constexpr std::string_view kCommonWords[] = {
    "time", "year", "people", "way", "day", "man", "thing", "woman", "life", "child", "world",
    "school", "state", "family", "student", "group", "country", "problem", "hand", "part", "place",
    "case", "week", "company", "system", "program", "question", "work", "government", "number",
    "night", "point", "home", "water", "room", "mother", "area", "money", "story", "fact", "month",
    "lot", "right", "study", "book", "eye", "job", "word", "business", "issue", "side", "kind",
    "head", "house", "service", "friend", "father", "power", "hour", "game", "line", "end",
    "member", "law", "car", "city", "community", "name", "president", "team", "minute", "idea",
    "body", "information", "back", "parent", "face", "others", "level", "office", "door", "health",
    "person", "art", "war", "history", "party", "result", "change", "morning", "reason", "research",
    "girl", "guy", "moment", "air", "teacher", "force", "education", "foot", "boy", "age", "policy",
    "music", "market", "sense", "road", "river", "garden", "window", "table", "paper", "letter",
    "summer", "winter", "spring", "forest", "mountain", "island", "bridge", "street", "village",
    "farmer", "doctor", "engine", "machine", "signal", "memory", "object", "picture", "color",
    "sound", "voice", "light", "shadow", "stone", "metal", "glass", "paint", "bread", "butter",
    "coffee", "dinner", "kitchen", "basket", "bottle", "blanket", "pocket", "button", "ladder",
    "hammer", "candle", "mirror", "train", "ship", "plane", "wheel", "station", "ticket", "journey",
    "map", "north", "south", "east", "west", "ocean", "beach", "cloud", "rain", "storm", "wind",
    "snow", "fire", "smoke", "earth", "moon", "star", "planet", "space", "animal", "horse", "bird",
    "fish", "tree", "flower", "grass", "leaf", "root", "seed", "fruit", "apple", "orange", "lemon",
    "corn", "rice", "sugar", "salt", "be", "have", "do", "say", "get", "make", "go", "know", "take",
    "see", "come", "think", "look", "want", "give", "use", "find", "tell", "ask", "seem", "feel",
    "try", "leave", "call", "keep", "let", "begin", "help", "talk", "turn", "start", "show", "hear",
    "play", "run", "move", "like", "live", "believe", "hold", "bring", "happen", "write", "provide",
    "sit", "stand", "lose", "pay", "meet", "include", "continue", "set", "learn", "lead",
    "understand", "watch", "follow", "stop", "create", "speak", "read", "allow", "add", "spend",
    "grow", "open", "walk", "win", "offer", "remember", "love", "consider", "appear", "buy", "wait",
    "serve", "die", "send", "expect", "build", "stay", "fall", "cut", "reach", "kill", "remain",
    "suggest", "raise", "pass", "sell", "require", "report", "decide", "pull", "carry", "draw",
    "choose", "cause", "break", "enjoy", "teach", "plan", "push", "fill", "answer", "cross", "drop",
    "finish", "gather", "hide", "join", "jump", "laugh", "listen", "measure", "notice", "order",
    "pick", "press", "promise", "protect", "prove", "repeat", "return", "save", "search", "share",
    "shout", "sing", "sleep", "smile", "sort", "store", "travel", "visit", "wash", "wonder", "good",
    "new", "first", "last", "long", "great", "little", "own", "other", "old", "big", "high",
    "different", "small", "large", "next", "early", "young", "important", "few", "public", "bad",
    "same", "able", "better", "best", "sure", "clear", "strong", "possible", "whole", "free",
    "real", "full", "special", "easy", "recent", "certain", "red", "green", "blue", "black",
    "white", "bright", "dark", "cold", "warm", "quick", "slow", "quiet", "loud", "heavy", "soft",
    "hard", "deep", "wide", "narrow", "sharp", "smooth", "rough", "clean", "empty", "ready",
    "simple", "plain", "proud", "brave", "gentle", "honest", "careful", "famous", "common",
    "modern", "ancient", "central", "local", "final", "total", "the", "of", "and", "a", "to", "in",
    "that", "it", "with", "for", "as", "on", "at", "by", "from", "about", "into", "over", "after",
    "before", "between", "under", "again", "there", "here", "very", "just", "only", "also", "never",
    "always", "often", "sometimes", "soon", "today", "already", "almost", "together", "across",
    "behind", "beside", "against", "without", "during", "through",
};

}  // namespace hyperloom
