extension String {
    /// The approximate width of the text at that size, in the widest of the drawing's fonts.
    func width(size: Double) -> Double {
        unicodeScalars.reduce(0) { $0 + $1.width } * size
    }
}

extension Unicode.Scalar {
    fileprivate var width: Double {
        switch self {
        case "i", "j", "l", "I", "|", "'", ".", ",", ":", ";", " ", "f", "t", "r", "(", ")", "[", "]": 0.42
        case "m", "w", "M", "W", "@", "%": 1.0
        case "a"..."z", "0"..."9", "_": 0.64
        case "A"..."Z": 0.74
        case "\u{80}"..."\u{24F}", "\u{370}"..."\u{5FF}", "…", "→": 0.84
        default: isASCII ? 0.7 : 1.1
        }
    }
}
