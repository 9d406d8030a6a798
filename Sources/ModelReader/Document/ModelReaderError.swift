public import ManagedModel

/// A fault in a model file or in its model.
public struct ModelReaderError: Error, Sendable, Hashable {
    /// The kind of the fault.
    public var code: Code
    /// The file or bundle with the fault.
    public var file: String
    /// The line of the faulty element, counted from 1; nil if the fault has no line.
    public var line: Int?
    /// Describes the fault and how to correct it.
    public var message: String

    /// Makes an error.
    ///
    /// ```swift
    /// let error = ModelReaderError(
    ///     .notFound, file: url.path, "There is no model here.")
    /// ```
    public init(_ code: Code, file: String, line: Int? = nil, _ message: String) {
        self.code = code
        self.file = file
        self.line = line
        self.message = message
    }

    /// The kind of a fault in a model or in its file.
    public typealias Code = ModelError.Code
}

/// The kinds of faults in a model file.
extension ModelError.Code {
    /// The path does not exist.
    public static let notFound = ModelError.Code("notFound")
    /// The file exists but could not be read.
    public static let unreadable = ModelError.Code("unreadable")
    /// The path or the file is not a data model.
    public static let notAModel = ModelError.Code("notAModel")
    /// The model was saved in a binary format, by a version of Xcode before 4.
    public static let binaryModel = ModelError.Code("binaryModel")
    /// The bundle does not name its current version, or names a version that does not exist.
    public static let noCurrentVersion = ModelError.Code("noCurrentVersion")
    /// The bundle has no version with the requested name.
    public static let unknownVersion = ModelError.Code("unknownVersion")
    /// The file is not in UTF-8, or declares another encoding.
    public static let unsupportedEncoding = ModelError.Code("unsupportedEncoding")
    /// The file declares a document type or an XML entity. Model files need neither.
    public static let documentTypeRefused = ModelError.Code("documentTypeRefused")
    /// Git left a merge conflict in the file.
    public static let mergeConflict = ModelError.Code("mergeConflict")
    /// The file is not well-formed XML, or the file with the current version is not in the format of Xcode.
    public static let malformedXML = ModelError.Code("malformedXML")
    /// An element has no name, or lacks another required attribute or a required child element.
    public static let missingName = ModelError.Code("missingName")
    /// An attribute has a type that is not part of the format.
    public static let unknownType = ModelError.Code("unknownType")
    /// A count is not a whole number, or is out of range.
    public static let badNumber = ModelError.Code("badNumber")
}

extension ModelReaderError: CustomStringConvertible {
    /// The error as `file:line: error: message`, which editors and build logs understand.
    public var description: String {
        "\(file):\(line.map { "\($0):" } ?? "") error: \(message)"
    }
}
