internal import ManagedModel

/// The helpers that read values for all elements.
extension ModelBuilder {
    func required(_ attribute: String, of element: MarkupElement) throws(ModelReaderError) -> String {
        guard let text = element.filled(attribute) else {
            throw ModelReaderError(
                .missingName, file: file, line: element.line,
                "<\(element.name)> has no \(attribute). Add the attribute, or remove the element.")
        }
        return text
    }

    mutating func flag(_ attribute: String, of element: MarkupElement, absent: Bool = false) -> Bool {
        guard let text = element[attribute] else { return absent }
        if let flag = NumberText.flag(text) { return flag }
        log.warn(element.line, "\(attribute)=\"\(text)\" is neither YES nor NO. It is ignored.")
        return absent
    }

    /// A count is part of what is stored or fetched, so an invalid one is an error.
    func count(
        _ attribute: String, of element: MarkupElement, from lowest: Int = 0
    ) throws(ModelReaderError) -> Int? {
        guard let text = element[attribute] else { return nil }
        guard let count = Int(text), count >= lowest else {
            throw ModelReaderError(
                .badNumber, file: file, line: element.line,
                "\(attribute)=\"\(text)\" of <\(element.name)> is not a count. Use a whole number of at least \(lowest)."
            )
        }
        return count
    }

    mutating func userInfo(of element: MarkupElement) -> [String: String] {
        var userInfo: [String: String] = [:]
        for entry in element.children(named: "userInfo").flatMap({ $0.children(named: "entry") }) {
            guard let key = entry["key"] else {
                log.warn(entry.line, "An entry of the user info has no key. It is ignored.")
                continue
            }
            if userInfo.updateValue(entry["value"] ?? "", forKey: key) != nil {
                log.warn(entry.line, "The user info has the key \(key) twice. The last one counts.")
            }
        }
        return userInfo
    }
}
