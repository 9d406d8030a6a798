// Made by model-reset convert from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Keywords: ManagedObject {
    @Stored(name: "-") var __: String?
    @Stored(name: "1st") var _1st: String?
    var `Any`: String?
    @Stored(name: "Type") var Type_: String?
    @Stored(name: "a b") var a_b2: String?
    @Stored(name: "a-b") var a_b3: String?
    var a_b: String?
    var `class`: String?
    var `default`: String?
    var `deinit`: String?
    @Stored(name: "description") var description_: String?
    var `extension`: String?
    @Stored(name: "init") var init_: String?
    var `nil`: String?
    var `protocol`: String?
    @Stored(name: "self") var self_: String?
    var `subscript`: String?
    var `super`: String?
}
