/// Why a model could not be read.
public struct ModelReaderError: Error, Sendable, Hashable {
    /// The kind of the fault.
    public var code: Code
    /// The file or bundle at fault.
    public var file: String
    /// The line of the faulty element, counted from 1; nil if there is no such line.
    public var line: Int?
    /// What happened, and what to do about it.
    public var message: String

    /// Makes an error.
    public init(_ code: Code, file: String, line: Int? = nil, _ message: String) {
        self.code = code
        self.file = file
        self.line = line
        self.message = message
    }

    /// The kind of a fault. New kinds may be added: compare with the ones you handle, and keep a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// There is nothing at the path.
        public static let notFound = Code("notFound")
        /// The file exists but could not be read.
        public static let unreadable = Code("unreadable")
        /// The path or the file is not a data model.
        public static let notAModel = Code("notAModel")
        /// The model was saved by an Xcode before version 4, in a binary format.
        public static let binaryModel = Code("binaryModel")
        /// The bundle does not say which of its versions is the current one.
        public static let noCurrentVersion = Code("noCurrentVersion")
        /// The bundle has no version with the requested name.
        public static let unknownVersion = Code("unknownVersion")
        /// The file is not in UTF-8.
        public static let unsupportedEncoding = Code("unsupportedEncoding")
        /// The file declares a document type or entities, which no model needs.
        public static let documentTypeRefused = Code("documentTypeRefused")
        /// Git left a merge conflict in the file.
        public static let mergeConflict = Code("mergeConflict")
        /// The file is not well-formed XML.
        public static let malformedXML = Code("malformedXML")
        /// An element lacks its name, or another required attribute.
        public static let missingName = Code("missingName")
        /// A name is empty or contains a dot.
        public static let invalidName = Code("invalidName")
        /// Two entities, composites, or properties of one entity share a name.
        public static let duplicateName = Code("duplicateName")
        /// An entity is its own ancestor, or a composite holds itself.
        public static let inheritanceCycle = Code("inheritanceCycle")
        /// A parent, destination, composite or constrained property does not exist.
        public static let unknownReference = Code("unknownReference")
        /// An attribute has a type that is not part of the format.
        public static let unknownType = Code("unknownType")
        /// A count is not a whole number, or is out of range.
        public static let badNumber = Code("badNumber")
        /// The file, or something in it, is larger than any real model.
        public static let tooLarge = Code("tooLarge")
        /// Elements, entities or composites are nested more deeply than in any real model.
        public static let tooDeep = Code("tooDeep")
    }
}

extension ModelReaderError: CustomStringConvertible {
    /// `file:line: error: message`, which editors and build logs understand.
    public var description: String {
        "\(file):\(line.map { "\($0):" } ?? "") error: \(message)"
    }
}
